import { METERS, type Meter, type MeterName } from './prices.ts';

/** So much of one meter. */
export type Usage = readonly [meter: MeterName, quantity: number];

export interface BillLine {
  readonly label: string;
  readonly unit: string;
  readonly quantity: number;
  /** Of it, what the monthly allowance covers. */
  readonly free: number;
  readonly usd: number;
}

/** Adds up what was used, meter by meter in the order of the price table. What costs nothing is listed too. */
export function calculateBill(usage: readonly Usage[]): BillLine[] {
  const totals = new Map<MeterName, number>();
  for (const [meter, quantity] of usage) totals.set(meter, (totals.get(meter) ?? 0) + quantity);
  return (Object.entries(METERS) as [MeterName, Meter][])
    .filter(([name]) => (totals.get(name) ?? 0) > 0)
    .map(([name, { label, unit, price, free = 0 }]) => {
      const quantity = totals.get(name) ?? 0;
      return { label, unit, quantity, free: Math.min(free, quantity), usd: Math.max(0, quantity - free) * price };
    });
}

/** USD. */
export const totalUsd = (bill: readonly BillLine[]): number => bill.reduce((sum, { usd }) => sum + usd, 0);
