import type { Profile } from './profiles.ts';
import type { DeploymentSettings } from './settings.ts';

/** Input of every construct of one deployment. */
export interface Deployment {
  readonly settings: DeploymentSettings;
  readonly profile: Profile;
  /** The folder of the bundled code: `functions/<name>`, `stream-service`. */
  readonly bundleDir: string;
  /** The folder of the built page. */
  readonly pageDir: string;
  /** Security headers of the page; the file may be absent. */
  readonly pageHeadersFile: string;
}
