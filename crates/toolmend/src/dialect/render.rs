//! Calls written back the way a family writes them.
