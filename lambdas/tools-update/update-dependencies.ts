import type { Log } from '../../core/log/index.ts';
import type { State } from '../../core/state/index.ts';
import type { Releases } from '../../core/tools/index.ts';
import type { ToolMetrics } from '../runtime/index.ts';
import type { PrepareDependencies } from './prepare-release.ts';
import type { LiveFunction } from './types.ts';

export interface UpdateDependencies extends PrepareDependencies {
  readonly state: Pick<
    State,
    'takeToolsUpdate' | 'endToolsUpdate' | 'takeMaintenance' | 'endMaintenance' | 'getTools' | 'putTools'
  >;
  readonly metrics: ToolMetrics;
  readonly log: Log;
  /** The release to run instead of the newest, also when it is older than the one in use. */
  readonly pinned?: string;
  /** Leases of a killed run expire after this time. @default 60 */
  readonly leaseSeconds?: number;
}

export interface UpdateToolsDependencies extends UpdateDependencies {
  readonly resolver: LiveFunction;
  /** Links that the resolver must resolve with another release before it is switched to. @default none */
  readonly canaryLinks?: readonly string[];
  /** Nightly releases, of which one replaces a stable release that fails canary links. @default none */
  readonly nightly?: Releases | undefined;
}
