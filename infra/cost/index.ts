export { type SpendingPlan, spendingPlan, UNSEEN_MINUTES } from './spending-plan.ts';
export { unitPrices } from './unit-prices.ts';
