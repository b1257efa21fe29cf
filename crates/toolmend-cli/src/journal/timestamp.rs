//! Times for people, in UTC.

/// Formats milliseconds of Unix time like `2026-11-16 06:42:30Z`.
pub(crate) fn format_utc(millis: i64) -> String {
    let seconds = millis.div_euclid(1000);
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_date(days);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    format!("{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}:{:02}Z", second % 60)
}

/// Returns year, month and day of a day counted from 1970-01-01, in the Gregorian calendar.
///
/// Counts years from March, so that the leap day is the last day of a year.
fn civil_date(days: i64) -> (i64, i64, i64) {
    const ERA: i64 = 146_097;
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[test]
fn times_follow_the_calendar() {
    for (seconds, expected) in [
        (0, "1970-01-01 00:00:00Z"),
        (951_782_399, "2000-02-28 23:59:59Z"),
        (951_782_400, "2000-02-29 00:00:00Z"),
        (1_709_251_199, "2024-02-29 23:59:59Z"),
        (1_767_225_600, "2026-01-01 00:00:00Z"),
        (4_107_542_400, "2100-03-01 00:00:00Z"),
    ] {
        assert_eq!(format_utc(seconds * 1000), expected);
    }
}
