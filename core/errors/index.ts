export {
  CapacityExceeded,
  ClientLimitExceeded,
  EgressRefused,
  InMaintenance,
  NotDeliverable,
  NotFound,
  StateUnavailable,
  UpstreamError,
  UrlExpired,
} from './errors.ts';
