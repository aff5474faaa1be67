export {
  CapacityExceeded,
  ClientDisconnected,
  ClientLimitExceeded,
  EgressRefused,
  InMaintenance,
  NotDeliverable,
  NotFound,
  StateUnavailable,
  StorageFull,
  UpstreamError,
  UrlExpired,
} from './errors.ts';
