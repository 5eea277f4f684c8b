/** US dollars as text. */

/** Two figures that say something: `$0.0033`, `≈$41.20`, `<$0.0001`; unknown is `–`. Never `$0.00`. */
export function money(usd: number | null, estimated = false): string {
  if (usd === null) return "–";
  if (usd > 0 && usd < 0.0001) return "<$0.0001";
  return `${estimated ? "≈" : ""}${dollars(usd)}`;
}

function dollars(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 0.1) return `$${usd.toFixed(4)}`;
  return usd < 1000 ? `$${usd.toFixed(2)}` : `$${Math.round(usd).toLocaleString("en-US")}`;
}

/** A single cost, as exactly as it is worth: `$0.000118`, `$0.0033`, `$41.20`; never `$0.00`. Pure. */
export function exactMoney(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 1e-6) return "<$0.000001";
  if (usd >= 1) return `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${usd.toLocaleString("en-US", { maximumSignificantDigits: 3, maximumFractionDigits: 12 })}`;
}
