import type { Template } from './permissions.ts';
import { onlyResource } from './template.ts';

interface Behaviour {
  readonly PathPattern?: string;
  readonly TargetOriginId: string;
  readonly AllowedMethods: string[];
  readonly CachePolicyId: string;
  readonly OriginRequestPolicyId?: string;
  readonly Compress: boolean;
  readonly FunctionAssociations: { EventType: string }[];
}
interface Origin {
  readonly Id: string;
  readonly OriginCustomHeaders?: { HeaderName: string; HeaderValue: unknown }[];
  readonly VpcOriginConfig?: unknown;
  readonly ConnectionAttempts?: number;
}
/** The parts of a distribution's configuration that tests read. */
export interface Edge {
  readonly CacheBehaviors: Behaviour[];
  readonly DefaultCacheBehavior: Behaviour;
  readonly Origins: Origin[];
  readonly OriginGroups?: unknown;
  readonly CustomErrorResponses: { ErrorCode: number; ErrorCachingMinTTL: number; ResponsePagePath?: string }[];
  readonly WebACLId?: unknown;
  readonly Aliases?: string[];
}

export const distribution = (of: Template): Edge =>
  onlyResource(of, 'AWS::CloudFront::Distribution').DistributionConfig as never as Edge;

/** The behaviour of a path, in whose patterns `?` is one character and `*` any number. */
export const behaviourOf = ({ CacheBehaviors, DefaultCacheBehavior }: Edge, path: string): Behaviour =>
  CacheBehaviors.find(({ PathPattern = '' }) =>
    new RegExp(`^${PathPattern.replaceAll('?', '.').replaceAll('*', '.*')}$`).test(path),
  ) ?? DefaultCacheBehavior;
