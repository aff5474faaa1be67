import type { ProfileName } from '../../infra/config/settings.ts';
import type { Template } from './permissions.ts';
import { EUROPE, synthesize, VIRGINIA } from './synth.ts';

/** What settings change, each in one deployment. */
export const DOMAIN = {
  domain: 'media.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:111111111111:certificate/0a1b2c3d-0000-1111-2222-333344445555',
};
export const SECRET = 'arn:aws:secretsmanager:eu-central-1:111111111111:secret:cookies-AbCdEf';

/** Each synthesised once, with cdk-nag and CloudFormation's validation as errors: a finding fails here. */
export const regionless = {
  hobby: synthesize({ profile: 'hobby' }),
  team: synthesize({ profile: 'team' }),
  public: synthesize({ profile: 'public' }),
};
export const regional = {
  hobby: synthesize({ profile: 'hobby', stage: 'blue' }, EUROPE),
  team: synthesize({ profile: 'team', stage: 'blue', architecture: 'arm64', ...DOMAIN }, VIRGINIA),
  public: synthesize(
    { profile: 'public', stage: 'blue', alarmEmail: 'ops@example.com', cookiesSecret: SECRET, entriesAtOnce: 60 },
    EUROPE,
  ),
};
export const PROFILE_NAMES: ProfileName[] = ['hobby', 'team', 'public'];
/** Of the stack that knows no region. */
export const template = (name: ProfileName): Template => regionless[name].templates['reelay-main'] ?? { Resources: {} };
/** Of the stack that knows where it goes. */
export const regionalTemplate = (name: ProfileName): Template =>
  regional[name].templates['reelay-blue'] ?? { Resources: {} };
