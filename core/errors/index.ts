export {
  CapacityExceeded,
  ClientDisconnected,
  ClientLimitExceeded,
  EgressRefused,
  InMaintenance,
  InvalidParameter,
  NotDeliverable,
  NotFound,
  StateUnavailable,
  StorageFull,
  UpstreamError,
  UrlExpired,
} from './errors.ts';
