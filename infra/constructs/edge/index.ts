export { AccessKeys, OriginSecret } from './access-keys.ts';
export { EdgeDistribution } from './edge-distribution.ts';
export { Firewall, type FirewallProps } from './firewall.ts';
export { Page } from './page.ts';
export { deployedSource, RESOLVE_PATHS } from './viewer-request-source.ts';
