import type { ShutdownStack } from '@reelay/concurrency';
import type { Log } from '../../core/log/index.ts';

/** What the optional parts of the service share. */
export interface HostParts {
  /** With a `v`. */
  readonly version: string;
  readonly log: Log;
  readonly shutdown: ShutdownStack;
}
