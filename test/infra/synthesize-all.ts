/**
 * Synthesizes the deployments of the tests in one process: loading CDK and its validation takes longer than ten syntheses,
 * and each worker that asks for one would load them. In the order of profiles: validation prepares itself for new types.
 * With `--all`, those too that only `*.all.test.ts` compare.
 */
import { DEPLOYMENTS, type DeploymentSettings, OF_ALL_TESTS, type SynthesizedName } from './deployment-settings.ts';
import { synthesize } from './synth.ts';

const profileOf = ([{ profile }]: DeploymentSettings) => String(profile);
const all = Object.keys(DEPLOYMENTS) as SynthesizedName[];
const names = process.argv.includes('--all') ? all : all.filter((name) => !OF_ALL_TESTS.includes(name));
names.sort((one, other) => profileOf(DEPLOYMENTS[one]).localeCompare(profileOf(DEPLOYMENTS[other])));
for (const name of names) await synthesize(name);
