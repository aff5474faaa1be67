import type { ProfileName } from '../../infra/settings.ts';
import type { Template } from './permissions.ts';
import { synthesize } from './synth.ts';

/** Environment-agnostic deployments of stage `main`. A cdk-nag or CloudFormation validation error fails here. */
export const regionless = {
  hobby: await synthesize('hobby'),
  team: await synthesize('team'),
  public: await synthesize('public'),
};
/** Deployments of stage `blue` to a known account and region. */
export const regional = {
  hobby: await synthesize('blue hobby'),
  team: await synthesize('blue team'),
  public: await synthesize('blue public'),
};
export const PROFILE_NAMES: ProfileName[] = ['hobby', 'team', 'public'];
/** Template of the environment-agnostic stack. */
export const template = (name: ProfileName): Template => regionless[name].templates['reelay-main'] ?? { Resources: {} };
/** Template of the stack with a known region. */
export const regionalTemplate = (name: ProfileName): Template =>
  regional[name].templates['reelay-blue'] ?? { Resources: {} };
