/** 64 bits as 16 hex digits: tells damage and names files. It resists accidents, not attackers, and spares a start node:crypto. */
export function checksum(bytes: Uint8Array): string {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : new Uint8Array(bytes);
  const words = new Int32Array(aligned.buffer, aligned.byteOffset, aligned.length >> 2);
  let low = bytes.length;
  let high = ~bytes.length;
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? 0;
    low = Math.imul(((low << 13) | (low >>> 19)) ^ word, 0x9e3779b1);
    high = Math.imul(high + word, 0x85ebca6b) ^ (high >>> 15);
  }
  for (let i = words.length * 4; i < bytes.length; i++) low = Math.imul(low ^ (bytes[i] ?? 0), 0x9e3779b1);
  return hex(low) + hex(high);
}

function hex(half: number): string {
  return (half >>> 0).toString(16).padStart(8, "0");
}
