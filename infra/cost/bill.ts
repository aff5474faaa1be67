import { METERS, type Meter, type MeterName } from './prices.ts';

/** A quantity of one meter, in the meter's unit. */
export type Usage = readonly [meter: MeterName, quantity: number];

export interface BillLine {
  readonly label: string;
  readonly unit: string;
  readonly quantity: number;
  /** The part of the quantity that the monthly free allowance covers. */
  readonly free: number;
  readonly usd: number;
}

/** Sums usage per meter, in the order of the price table. Lines that the free allowance covers are included. */
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

/** Sum of a bill in USD. */
export const totalUsd = (bill: readonly BillLine[]): number => bill.reduce((sum, { usd }) => sum + usd, 0);
