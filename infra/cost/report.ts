import { type BillLine, totalUsd } from './bill.ts';
import type { Traffic } from './traffic.ts';

/** Formats a bill as a plain-text table. */
export function formatReport(title: string, traffic: Traffic, bill: readonly BillLine[]): string {
  const rows = bill.map(({ label, unit, quantity, free, usd }) => [
    label,
    `${formatNumber(quantity)} ${unit}`,
    free > 0 ? `${formatNumber(free)} free` : '',
    formatUsd(usd),
  ]);
  const all = [...rows, ['', '', 'a month', formatUsd(totalUsd(bill))]];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  return [`${title}, ${traffic.name} (${traffic.meaning})`, ...lines.map((line) => `  ${line.trimEnd()}`)].join('\n');
}

const formatUsd = (usd: number): string => `$${usd.toFixed(2)}`;

const formatNumber = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: value < 1 ? 2 : 4, useGrouping: true });
