//! Checks the owner of a connection: any process on the machine can connect to a port, but only the child may.

use std::fs;
use std::net::SocketAddr;

/// Reports whether the peer of a connection from `peer` to our `port` belongs to the process group `group`. If the
/// system cannot tell, the answer is yes.
pub(super) fn belongs_to(peer: SocketAddr, port: u16, group: u32) -> bool {
    if !peer.ip().is_loopback() {
        return false;
    }
    let Ok(table) = fs::read_to_string("/proc/net/tcp") else {
        return true;
    };
    let Some(inode) = find_inode(&table, peer.port(), port) else {
        return false;
    };
    let name = format!("socket:[{inode}]");
    // The owner is nearly always the group's leader, and searching all processes takes milliseconds.
    has_open_socket(group, &name)
        || processes_in_group(group).any(|process| has_open_socket(process, &name))
}

/// Returns the inode of the socket with these local and remote ports; `table` has the format of proc(5).
fn find_inode(table: &str, local: u16, remote: u16) -> Option<&str> {
    let port = |address: &str| u16::from_str_radix(address.split(':').nth(1)?, 16).ok();
    table.lines().skip(1).find_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let found = (port(words.next()?)?, port(words.next()?)?);
        let inode = words.nth(6)?;
        // A socket that no process holds any more has the inode 0.
        (found == (local, remote) && inode != "0").then_some(inode)
    })
}

fn processes_in_group(group: u32) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter(move |process| process_group(*process) == Some(group))
}

/// Returns the process group of a process: the third word after its name, which may contain any character.
fn process_group(process: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(2)?.parse().ok()
}

fn has_open_socket(process: u32, name: &str) -> bool {
    let entries = fs::read_dir(format!("/proc/{process}/fd"));
    let mut entries = entries.into_iter().flatten().flatten();
    entries.any(|entry| fs::read_link(entry.path()).is_ok_and(|target| target.as_os_str() == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inode_is_found_by_both_ports() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n   \
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 111 1\n   \
             1: 0100007F:C001 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 222 1\n";
        assert_eq!(find_inode(table, 0xC001, 0x1F90), Some("222"));
        assert_eq!(find_inode(table, 0xC002, 0x1F90), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_connection_of_our_own_is_ours_and_not_another_groups() {
        use std::net::{TcpListener, TcpStream};
        let listener = TcpListener::bind("127.0.0.1:0").expect("loopback");
        let address = listener.local_addr().expect("bound");
        let stream = TcpStream::connect(address).expect("it listens");
        let peer = stream.local_addr().expect("connected");
        let ours = process_group(std::process::id()).expect("proc is there");
        assert!(belongs_to(peer, address.port(), ours));
        assert!(!belongs_to(peer, address.port(), 1));
    }
}
