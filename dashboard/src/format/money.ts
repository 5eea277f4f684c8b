/** US dollars as text. */

/** A rounded amount: `$0.0033`, `≈$41.20`, `<$0.0001`. `null` is a dash. Never `$0.00`. */
export function money(usd: number | null, estimated = false): string {
  if (usd === null) return "–";
  if (usd > 0 && usd < 0.0001) return "<$0.0001";
  return `${estimated ? "≈" : ""}${dollars(usd)}`;
}

function dollars(usd: number): string {
  if (usd === 0) return "$0";
  // Unlike toFixed(), toLocaleString() rounds the decimal number, so 0.03675 is $0.0368 here and in exactMoney().
  const digits = usd < 0.1 ? 4 : usd < 1000 ? 2 : 0;
  return `$${usd.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits })}`;
}

/** The cost of one request, with three significant digits below $1: `$0.000118`, `$41.20`. Never `$0.00`. */
export function exactMoney(usd: number): string {
  if (usd === 0) return "$0";
  if (usd < 1e-6) return "<$0.000001";
  if (usd >= 1) return `$${usd.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `$${usd.toLocaleString("en-US", { maximumSignificantDigits: 3, maximumFractionDigits: 12 })}`;
}
