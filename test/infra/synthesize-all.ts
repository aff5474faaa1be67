/**
 * Synthesizes every deployment of the tests in one process: loading CDK and its validation takes longer than ten syntheses,
 * and each worker that asks for one would load them. In the order of profiles: validation prepares itself for new types.
 */
import { DEPLOYMENTS, type DeploymentSettings, type SynthesizedName } from './deployment-settings.ts';
import { synthesize } from './synth.ts';

const profileOf = ([{ profile }]: DeploymentSettings) => String(profile);
const names = Object.keys(DEPLOYMENTS) as SynthesizedName[];
names.sort((one, other) => profileOf(DEPLOYMENTS[one]).localeCompare(profileOf(DEPLOYMENTS[other])));
for (const name of names) await synthesize(name);
