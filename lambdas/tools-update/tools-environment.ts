import { assetFor, isReleaseTag } from '@reelay/yt-dlp-worker';
import {
  type Environment,
  oneOf,
  optional,
  readVariables,
  required,
  SettingError,
  setting,
  type ValuesOf,
  wholeNumber,
} from '../../core/config/index.ts';

const VARIABLES = {
  tableName: required('TABLE_NAME'),
  bucket: required('TOOLS_BUCKET'),
  layerName: required('LAYER_NAME'),
  canaryFunction: required('CANARY_FUNCTION'),
  resolverFunction: required('RESOLVER_FUNCTION'),
  /** The release to run instead of the newest. */
  pinned: optional('TOOLS_VERSION'),
  /** The processor of the resolver. The update functions may run on another. */
  architecture: required('ARCHITECTURE', oneOf('x86_64', 'arm64')),
  stage: required('STAGE'),
  channel: setting('toolsChannel'),
  canaryLinks: setting('canaryLinks'),
  /** Environments of the resolver that are kept initialized. */
  provisioned: optional('RESOLVER_PROVISIONED', 0, wholeNumber(0, 1_000)),
};

/** The environment of the functions that update the tools layer, as the stack sets it. */
interface ToolsEnvironment extends ValuesOf<typeof VARIABLES> {
  /** The file of a release for the processor of the resolver. */
  readonly asset: string;
}

/** Node names by Lambda architecture. */
const PROCESSORS = { x86_64: 'x64', arm64: 'arm64' } as const;

/** @throws SettingError in one line that names the variable */
export function readToolsEnvironment(environment: Environment): ToolsEnvironment {
  const variables = readVariables(environment, VARIABLES);
  const asset = assetFor('linux', PROCESSORS[variables.architecture], false);
  if (!asset) throw new SettingError(`ARCHITECTURE ${variables.architecture} has no release`);
  if (variables.pinned && !isReleaseTag(variables.pinned))
    throw new SettingError('TOOLS_VERSION must be the tag of a release');
  return { ...variables, asset };
}
