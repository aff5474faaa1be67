import type { Profile } from './profiles.ts';
import type { DeploymentSettings } from './settings.ts';

/** What every construct of one deployment may ask. */
export interface Deployment {
  readonly settings: DeploymentSettings;
  readonly profile: Profile;
  /** The folder with what runs: `functions/<name>`, `stream-service`. */
  readonly bundleDir: string;
  /** The folder with the page. */
  readonly pageDir: string;
  /** The headers that the page asks for; the file may be absent. */
  readonly pageHeadersFile: string;
  /** Different for every deployment: what hangs on it is done anew each time. */
  readonly deployedAt: string;
}
