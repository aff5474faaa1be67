import { EDGE_PLANS, type EdgePlan, METERS, type Meter, type MeterName, PLAN_METERS } from './prices.ts';

/** A quantity of one meter, in the meter's unit. */
export type Usage = readonly [meter: MeterName, quantity: number];

export interface BillLine {
  readonly meter: MeterName;
  readonly label: string;
  readonly unit: string;
  readonly quantity: number;
  /** The part of the quantity that the monthly free allowance covers. */
  readonly free: number;
  /** Undefined: the price is not published. */
  readonly usd: number | undefined;
}

/** Sums usage per meter, in the order of the price table. Lines that the free allowance covers are included. */
export function calculateBill(usage: readonly Usage[]): BillLine[] {
  const totals = new Map<MeterName, number>();
  for (const [meter, quantity] of usage) totals.set(meter, (totals.get(meter) ?? 0) + quantity);
  return (Object.entries(METERS) as [MeterName, Meter][])
    .filter(([name]) => (totals.get(name) ?? 0) > 0)
    .map(([name, meter]) => {
      const { label, unit, free = 0 } = meter;
      const quantity = totals.get(name) ?? 0;
      return { meter: name, label, unit, quantity, free: Math.min(free, quantity), usd: priceOf(meter, quantity) };
    });
}

/** USD for a quantity beyond the free one, by the volume prices of the meter; undefined without a published price. */
function priceOf({ price, free = 0, tiers = [] }: Meter, quantity: number): number | undefined {
  if (price === undefined) return undefined;
  let charged = Math.min(free, quantity);
  let usd = 0;
  for (const tier of [...tiers, { upTo: Infinity, price }]) {
    const part = Math.max(0, Math.min(quantity, tier.upTo) - charged);
    usd += part * tier.price;
    charged += part;
  }
  return usd;
}

/** Sum of a bill in USD, without what has no published price. */
export const totalUsd = (bill: readonly BillLine[]): number => bill.reduce((sum, { usd = 0 }) => sum + usd, 0);

/** A bill with a flat-rate plan of CloudFront instead of the meters that the plan includes. */
export interface PlannedBill {
  readonly plan: EdgePlan;
  readonly usd: number;
}

/** The bill with the cheapest plan whose allowance covers the usage; undefined when none does. */
export function billWithPlan(bill: readonly BillLine[]): PlannedBill | undefined {
  const quantityOf = (name: MeterName) => bill.find(({ meter }) => meter === name)?.quantity ?? 0;
  const plan = EDGE_PLANS.find(
    ({ gigabytes, requests }) => quantityOf('edgeTraffic') <= gigabytes && quantityOf('edgeRequests') <= requests,
  );
  return plan && { plan, usd: plan.price + totalUsd(bill.filter(({ meter }) => !PLAN_METERS.includes(meter))) };
}
