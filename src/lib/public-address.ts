import { BlockList, isIP } from "node:net";

/** Whether an address belongs to the public internet: not this machine, not its network, nothing reserved, in any spelling. */
export function isPublicAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, "");
  const version = isIP(plain);
  if (version === 4) return !RESERVED.check(plain, "ipv4");
  if (version !== 6) return false;
  const groups = groupsOf(plain);
  const [a = 0, b = 0] = groups;
  // Forms that carry an IPv4 address and may end up there: mapped, NAT64, 6to4.
  if (groups.slice(0, 5).every((g) => g === 0) && groups[5] === 0xffff) return isPublicAddress(dotted(groups[6], groups[7]));
  if (a === 0x64 && b === 0xff9b && groups.slice(2, 6).every((g) => g === 0)) return isPublicAddress(dotted(groups[6], groups[7]));
  if (a === 0x2002) return isPublicAddress(dotted(groups[1], groups[2]));
  const isGlobal = a >= 0x2000 && a <= 0x3fff;
  const isSpecial = (a === 0x2001 && b < 0x200) || (a === 0x2001 && b === 0xdb8) || (a === 0x3fff && b < 0x1000);
  return isGlobal && !isSpecial;
}

const RESERVED = new BlockList();
for (const [network, prefix] of [
  ["0.0.0.0", 8], ["10.0.0.0", 8], ["100.64.0.0", 10], ["127.0.0.0", 8], ["169.254.0.0", 16], ["172.16.0.0", 12], ["192.0.0.0", 24], ["192.0.2.0", 24],
  ["192.88.99.0", 24], ["192.168.0.0", 16], ["198.18.0.0", 15], ["198.51.100.0", 24], ["203.0.113.0", 24], ["224.0.0.0", 4], ["240.0.0.0", 4],
] as const) RESERVED.addSubnet(network, prefix, "ipv4");

/** The eight groups of an IPv6 address that `isIP` has accepted. */
function groupsOf(address: string): number[] {
  const hex = address.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...p: string[]) => {
    const [w = 0, x = 0, y = 0, z = 0] = p.slice(0, 4).map(Number);
    return `${((w << 8) | x).toString(16)}:${((y << 8) | z).toString(16)}`;
  });
  const [left = "", right] = hex.split("::");
  const parts = (text: string): number[] => (text === "" ? [] : text.split(":").map((g) => Number.parseInt(g, 16)));
  const [head, tail] = [parts(left), parts(right ?? "")];
  return right === undefined ? head : [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail];
}

function dotted(high = 0, low = 0): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join(".");
}
