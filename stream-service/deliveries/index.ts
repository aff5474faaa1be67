export { createDeliveries, type Deliveries } from './deliveries.ts';
export type { DeliveriesOptions, DeliverySettings } from './delivery-worker.ts';
export { parseDeliveryOrder } from './parse-order.ts';
