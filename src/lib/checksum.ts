/** 64 bits as 16 hex digits: tells damage and names files. It resists accidents, not attackers, and spares a start node:crypto. */
export function checksum(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const words = bytes.length - (bytes.length % 4);
  let low = bytes.length;
  let high = ~bytes.length;
  for (let i = 0; i < words; i += 4) {
    const word = view.getInt32(i, true);
    low = Math.imul(((low << 13) | (low >>> 19)) ^ word, 0x9e3779b1);
    high = Math.imul(high + word, 0x85ebca6b) ^ (high >>> 15);
  }
  for (let i = words; i < bytes.length; i++) low = Math.imul(low ^ view.getUint8(i), 0x9e3779b1);
  return hex(low) + hex(high);
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, "0");
}
