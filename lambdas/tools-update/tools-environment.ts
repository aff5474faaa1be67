import type { Architecture } from '@aws-sdk/client-lambda';
import { oneOf, SettingError, wholeNumber } from '../../core/config/index.ts';
import { assetFor, isReleaseTag, type ToolsChannel } from '../../core/tools/index.ts';

/** The environment of the functions that update the tools layer, as the stack sets it. */
export interface ToolsEnvironment {
  readonly tableName: string;
  readonly bucket: string;
  readonly layerName: string;
  readonly canaryFunction: string;
  readonly resolverFunction: string;
  readonly channel: ToolsChannel;
  /** The release to run instead of the newest. */
  readonly pinned?: string;
  /** Of the resolver. The update functions may run on another. */
  readonly architecture: Architecture;
  /** The file of a release for that architecture. */
  readonly asset: string;
  readonly stage: string;
  readonly canaryLinks: readonly string[];
  /** Environments of the resolver that are kept initialized. */
  readonly provisioned: number;
}

/** Node names by Lambda architecture. */
const PROCESSORS = { x86_64: 'x64', arm64: 'arm64' } as const;

/** @throws SettingError in one line that names the variable */
export function readToolsEnvironment(environment: Readonly<Record<string, string | undefined>>): ToolsEnvironment {
  const read = (name: string): string => {
    const text = environment[name]?.trim();
    if (!text) throw new SettingError(`${name} must be set`);
    return text;
  };
  const architecture = oneOf('x86_64', 'arm64')('ARCHITECTURE', read('ARCHITECTURE'));
  const asset = assetFor('linux', PROCESSORS[architecture], false);
  if (!asset) throw new SettingError(`ARCHITECTURE ${architecture} has no release`);
  const pinned = environment.TOOLS_VERSION?.trim();
  if (pinned && !isReleaseTag(pinned)) throw new SettingError('TOOLS_VERSION must be the tag of a release');
  return {
    tableName: read('TABLE_NAME'),
    bucket: read('TOOLS_BUCKET'),
    layerName: read('LAYER_NAME'),
    canaryFunction: read('CANARY_FUNCTION'),
    resolverFunction: read('RESOLVER_FUNCTION'),
    pinned: pinned || undefined,
    channel: oneOf('auto', 'stable', 'nightly')('TOOLS_CHANNEL', read('TOOLS_CHANNEL')),
    architecture,
    asset,
    stage: read('STAGE'),
    provisioned: wholeNumber(0, 1_000)('RESOLVER_PROVISIONED', environment.RESOLVER_PROVISIONED?.trim() || '0'),
    canaryLinks: environment.CANARY_LINKS?.split(',').filter(Boolean) ?? [],
  };
}
