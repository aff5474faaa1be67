export {
  CapacityExceeded,
  ClientDisconnected,
  ClientLimitExceeded,
  EgressRefused,
  InMaintenance,
  NotDeliverable,
  NotFound,
  StateUnavailable,
  UpstreamError,
  UrlExpired,
} from './errors.ts';
