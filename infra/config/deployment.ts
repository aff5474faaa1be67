import type { Profile } from './profiles.ts';
import type { DeploymentSettings } from './settings.ts';

/** Input of every construct of one deployment. */
export interface Deployment {
  readonly settings: DeploymentSettings;
  readonly profile: Profile;
  /** The folder of the bundled code (`functions/<name>`, `stream-service`) and of the built page (`web`). */
  readonly bundleDir: string;
}
