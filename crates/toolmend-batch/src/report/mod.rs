//! stub
use crate::job::Summary;
use std::path::Path;
pub(crate) fn write(path: &Path, _: &Summary, _: &[String]) -> std::io::Result<()> {
    std::fs::write(path, "")
}
