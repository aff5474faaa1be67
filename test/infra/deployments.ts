import type { ProfileName } from '../../infra/config/settings.ts';
import type { Template } from './permissions.ts';
import { EUROPE, synthesize, VIRGINIA } from './synth.ts';

/** Settings of the regional deployments. */
export const DOMAIN = {
  domain: 'media.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:111111111111:certificate/0a1b2c3d-0000-1111-2222-333344445555',
};
export const SECRET = 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:cookies-AbCdEf';

/** Environment-agnostic deployments of stage `main`. A cdk-nag or CloudFormation validation error fails here. */
export const regionless = {
  hobby: await synthesize({ profile: 'hobby', architecture: 'arm64' }),
  team: await synthesize({ profile: 'team', architecture: 'arm64' }),
  public: await synthesize({ profile: 'public', architecture: 'arm64' }),
  /** `hobby` with a Lambda Web Function. */
  lambda: await synthesize({ profile: 'hobby', streamHost: 'lambda', architecture: 'arm64' }),
};
/** Deployments of stage `blue` to a known account and region. */
export const regional = {
  hobby: await synthesize({ profile: 'hobby', stage: 'blue' }, EUROPE),
  team: await synthesize({ profile: 'team', stage: 'blue', architecture: 'arm64', ...DOMAIN }, VIRGINIA),
  public: await synthesize(
    {
      profile: 'public',
      stage: 'blue',
      alarmEmail: 'ops@example.com',
      cookiesSecret: SECRET,
      entriesAtOnce: 60,
      resolverConcurrency: 90,
    },
    EUROPE,
  ),
};
export const PROFILE_NAMES: ProfileName[] = ['hobby', 'team', 'public'];
/** The profiles, and `hobby` on Lambda. */
export const DEPLOYMENT_NAMES = [...PROFILE_NAMES, 'lambda'] as const;
export type DeploymentName = (typeof DEPLOYMENT_NAMES)[number];
/** Template of the environment-agnostic stack. */
export const template = (name: DeploymentName): Template =>
  regionless[name].templates['reelay-main'] ?? { Resources: {} };
/** Template of the stack with a known region. */
export const regionalTemplate = (name: ProfileName): Template =>
  regional[name].templates['reelay-blue'] ?? { Resources: {} };
