export { createEdgeSwitch } from './edge-switch.ts';
export { CLOSED_KEY, createCostGuard } from './guard.ts';
export {
  createApiThrottle,
  createConcurrencyLimit,
  createHostLimit,
  createHostWatch,
  createReservation,
} from './limits.ts';
export { createMetricReader } from './metric-reader.ts';
