export type { components, operations, ProblemName, paths } from './api-types.ts';
export {
  type AppInfo,
  type Client,
  type ClientOptions,
  createClient,
  type MediaDetails,
  type MediaInformation,
  type MediaRendition,
  type Playback,
  type PlaybackTrack,
  type ResolvedList,
  type ResolveListOptions,
  type ResolveOptions,
  type ResourceInformation,
  resolveList,
  type Selection,
  type StreamParameters,
  type StreamReference,
} from './client.ts';
export { type FailureCode, type FailureFacts, type LocalFailure, ReelayError } from './failure.ts';
export { type RetryOptions, type Waiting, withRetries } from './retry.ts';
