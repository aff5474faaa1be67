import { type BillLine, billWithPlan, totalUsd } from './bill.ts';
import type { Traffic } from './traffic.ts';

/** Formats a bill as a plain-text table. */
export function formatReport(title: string, traffic: Traffic, bill: readonly BillLine[]): string {
  const rows = bill.map(({ label, unit, quantity, free, usd }) => [
    label,
    `${formatNumber(quantity)} ${unit}`,
    free > 0 ? `${formatNumber(free)} free` : '',
    usd === undefined ? 'unpublished' : formatUsd(usd),
  ]);
  const isIncomplete = bill.some(({ usd }) => usd === undefined);
  const all = [...rows, ['', '', isIncomplete ? 'a month, besides' : 'a month', formatUsd(totalUsd(bill))]];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const lines = all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
  return [`${title}, ${traffic.name} (${traffic.meaning})`, ...lines.map((line) => `  ${line.trimEnd()}`)].join('\n');
}

/** The bill with a flat-rate plan, in one line; empty where no plan saves anything. */
export function formatPlan(bill: readonly BillLine[]): string {
  const planned = billWithPlan(bill);
  if (!planned || planned.usd >= totalUsd(bill) - 0.005) return '';
  return `  with CloudFront's flat-rate plan ${planned.plan.name} (${formatUsd(planned.plan.price)}): ${formatUsd(planned.usd)}`;
}

/** What strangers can make a day cost, in two lines. */
export function formatWorstDay(
  { usd, refusedUsd }: { readonly usd: number; readonly refusedUsd: number },
  { dailyCap, hourlyCap }: { readonly dailyCap: number; readonly hourlyCap: number },
): string {
  const caps = `caps: ${formatUsd(dailyCap)} a day, ${formatUsd(hourlyCap)} an hour`;
  const refused = `  and ${formatUsd(refusedUsd)} for the requests of that day that the closed edge refuses, without a flat-rate plan`;
  return [
    `  the worst day costs ${formatUsd(usd)} by list prices (${caps})`,
    ...(refusedUsd > 0 ? [refused] : []),
  ].join('\n');
}

/** Bills of an on-demand host by visits a day, in one line. */
export const formatVisits = (bills: readonly (readonly [visitsPerDay: number, usd: number])[]): string =>
  `  by separate visits a day: ${bills.map(([visits, usd]) => `${visits}: ${formatUsd(usd)}`).join(', ')}`;

const formatUsd = (usd: number): string => `$${usd.toFixed(2)}`;

const formatNumber = (value: number): string =>
  value.toLocaleString('en-US', { maximumSignificantDigits: value < 1 ? 2 : 4, useGrouping: true });
