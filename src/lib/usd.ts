/** An amount with as many digits as it takes: what is little is never shown as nothing. */
export function usd(amount: number): string {
  if (amount >= 0.01 || amount <= 0) return `$${amount.toFixed(2)}`;
  return `$${amount.toFixed(Math.min(12, Math.max(4, Math.ceil(-Math.log10(amount)) + 1)))}`;
}
