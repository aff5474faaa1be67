export { type SpendingPlan, spendingPlan, UNSEEN_MINUTES } from './spending-plan.ts';
export { type UnitPrices, unitPrices } from './unit-prices.ts';
