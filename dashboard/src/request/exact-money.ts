/** A single cost, as exactly as it is worth: `$0.000118`, `$0.0033`, `$41.20`; never `$0.00`. Pure. */
export function exactMoney(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 1e-6) return "<$0.000001";
  if (usd >= 1) return `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${usd.toLocaleString("en-US", { maximumSignificantDigits: 3, maximumFractionDigits: 12 })}`;
}
