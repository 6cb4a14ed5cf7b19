/** 64 bits of FNV-1a in two halves, as 16 hex digits: tells damage and names files. It resists accidents, not attackers. */
export function checksum(bytes: Uint8Array): string {
  let low = 0x811c9dc5;
  let high = 0x9dc5811c;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i] ?? 0;
    low = Math.imul(low ^ byte, 0x01000193);
    high = Math.imul(high + byte, 0x85ebca6b) ^ (high >>> 15);
  }
  return hex(low) + hex(high);
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, "0");
}
