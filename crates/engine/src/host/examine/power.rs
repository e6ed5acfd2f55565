//! Reads temperature and power, which can make a machine slow down.

use super::files::SystemFiles;
use perfcheck_analysis::model::{HeatState, PowerState};

const ZONES: &str = "/sys/class/thermal";
const SUPPLIES: &str = "/sys/class/power_supply";

/// Reads the state of temperature and power.
pub(super) fn power(files: &dyn SystemFiles) -> PowerState {
    PowerState {
        hottest: hottest(files),
        on_battery: on_battery(files),
        profile: files.line("/sys/firmware/acpi/platform_profile"),
    }
}

/// Returns the zone that is nearest to its limit; without limits, the hottest one.
fn hottest(files: &dyn SystemFiles) -> Option<HeatState> {
    let names = files.names(ZONES).into_iter();
    let zones = names.filter(|name| name.starts_with("thermal_zone"));
    let zones = zones.filter_map(|name| {
        let path = format!("{ZONES}/{name}");
        Some(HeatState {
            zone: files.line(&format!("{path}/type")).unwrap_or(name),
            celsius: celsius(&files.line(&format!("{path}/temp"))?)?,
            limit_celsius: limit(files, &path),
        })
    });
    let room = |zone: &HeatState| {
        zone.limit_celsius
            .map_or(200.0 - zone.celsius, |limit| limit - zone.celsius)
    };
    zones.min_by(|one, two| room(one).total_cmp(&room(two)))
}

/// Returns the lowest trip point at which the system slows down or stops.
fn limit(files: &dyn SystemFiles, zone: &str) -> Option<f64> {
    let names = files.names(zone).into_iter();
    let points = names.filter_map(|name| {
        let number = name.strip_suffix("_type")?.strip_prefix("trip_point_")?;
        let kind = files.line(&format!("{zone}/{name}"))?;
        if !["passive", "hot", "critical"].contains(&kind.as_str()) {
            return None;
        }
        celsius(&files.line(&format!("{zone}/trip_point_{number}_temp"))?)
    });
    // Firmware sets unused trip points to 0 or below.
    points
        .filter(|celsius| *celsius > 0.0)
        .min_by(f64::total_cmp)
}

/// Converts the kernel's thousandths of a degree.
fn celsius(text: &str) -> Option<f64> {
    let thousandths: i32 = text.parse().ok()?;
    Some(f64::from(thousandths) / 1000.0)
}

/// Reports whether no mains supply is connected and a battery is discharging. Batteries of peripheral devices do not
/// count.
fn on_battery(files: &dyn SystemFiles) -> Option<bool> {
    let mut found = None;
    for name in files.names(SUPPLIES) {
        let path = format!("{SUPPLIES}/{name}");
        let line = |file: &str| files.line(&format!("{path}/{file}"));
        match line("type").as_deref() {
            Some("Mains" | "USB") if line("online").as_deref() == Some("1") => return Some(false),
            Some("Mains") => found = found.or(Some(false)),
            Some("Battery") if line("scope").as_deref() != Some("Device") => {
                let used_up = line("status").as_deref() == Some("Discharging");
                found = Some(found.unwrap_or(false) || used_up);
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::files::tests::TestFiles;
    use super::*;

    #[test]
    fn the_zone_nearest_to_its_limit_is_named() {
        let texts = TestFiles::from_texts([
            ("/sys/class/thermal/cooling_device0/type", "Processor"),
            ("/sys/class/thermal/thermal_zone0/type", "acpitz"),
            ("/sys/class/thermal/thermal_zone0/temp", "27800"),
            ("/sys/class/thermal/thermal_zone1/type", "x86_pkg_temp"),
            ("/sys/class/thermal/thermal_zone1/temp", "91000"),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_0_type",
                "critical",
            ),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_0_temp",
                "105000",
            ),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_1_type",
                "passive",
            ),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_1_temp",
                "95000",
            ),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_2_type",
                "passive",
            ),
            (
                "/sys/class/thermal/thermal_zone1/trip_point_2_temp",
                "-274000",
            ),
        ]);
        let found = hottest(&texts).unwrap();
        assert_eq!(found.zone, "x86_pkg_temp");
        assert_eq!((found.celsius, found.limit_celsius), (91.0, Some(95.0)));
    }

    #[test]
    fn a_laptop_runs_from_its_battery_when_it_is_unplugged_and_a_mouse_s_battery_is_none() {
        let laptop = |online, status| {
            TestFiles::from_texts([
                ("/sys/class/power_supply/AC/type", "Mains"),
                ("/sys/class/power_supply/AC/online", online),
                ("/sys/class/power_supply/BAT0/type", "Battery"),
                ("/sys/class/power_supply/BAT0/status", status),
                ("/sys/class/power_supply/hidpp/type", "Battery"),
                ("/sys/class/power_supply/hidpp/scope", "Device"),
                ("/sys/class/power_supply/hidpp/status", "Discharging"),
            ])
        };
        assert_eq!(on_battery(&laptop("1", "Charging")), Some(false));
        assert_eq!(on_battery(&laptop("0", "Discharging")), Some(true));
        assert_eq!(on_battery(&laptop("0", "Full")), Some(false));
        assert_eq!(on_battery(&TestFiles::from_texts([])), None);
    }

    #[test]
    fn without_sensors_nothing_is_known() {
        assert_eq!(power(&TestFiles::from_texts([])), PowerState::default());
    }
}
