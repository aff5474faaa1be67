import { defineParser, SettingError, secretList } from './parsers.ts';

/** A site in a rule: `host`, which includes its subdomains, or `*.host`. */
export interface SitePattern {
  /** In lower case. */
  readonly host: string;
  /** `*.host`: the subdomains alone. */
  readonly subdomainsOnly: boolean;
}

const SITE = /^(\*\.)?([^\s*=/?#@:\\]+)$/;

/** Undefined when it is something else. */
export function parseSitePattern(text: string): SitePattern | undefined {
  const [, wildcard, name] = SITE.exec(text) ?? [];
  const host = name && URL.parse(`http://${name}/`)?.hostname.replace(/\.$/, '');
  return host ? { host, subdomainsOnly: wildcard !== undefined } : undefined;
}

/** Whether a link is of the site. False for text that is no URL. */
export function matchesSite({ host, subdomainsOnly }: SitePattern, link: string): boolean {
  const name = URL.parse(link)?.hostname.replace(/\.$/, '') ?? '';
  return (name === host && !subdomainsOnly) || name.endsWith(`.${host}`);
}

/** Returns what tells whether the host of a URL is one of these, or a subdomain of one. @param hosts names of hosts */
export function hostMatcher(hosts: readonly string[]): (url: string) => boolean {
  const sites = hosts.flatMap((host) => parseSitePattern(host) ?? []);
  return (url) => sites.some((site) => matchesSite(site, url));
}

/** Which connections the resolves of a site use. */
export interface ProxyRule extends SitePattern {
  /** The position of an outgoing proxy, from 1. */
  readonly proxy: number | 'direct';
}

const PROXY_RULE = /^([^=]+)=(direct|[1-9]\d{0,3})$/i;

/** Parses `host=position`, `*.host=position` or `host=direct`. Undefined when it is something else. */
export function parseProxyRule(text: string): ProxyRule | undefined {
  const [, site, target = ''] = PROXY_RULE.exec(text) ?? [];
  const pattern = site && parseSitePattern(site);
  return pattern ? { ...pattern, proxy: target.toLowerCase() === 'direct' ? 'direct' : Number(target) } : undefined;
}

const PROXY_RULES = 'a comma list of host=position in OUTGOING_PROXIES, from 1, or host=direct';

/** Rules for the outgoing proxies of single sites, as text. An entry may be a proxy that was put into the wrong variable. */
export const proxyRules = secretList(PROXY_RULES, (item) => (parseProxyRule(item) ? item : undefined));

/** @throws SettingError when a rule names a position that has no proxy */
export function checkProxyRules(name: string, rules: readonly string[], proxyCount: number): void {
  const index = rules.findIndex((rule) => Number(parseProxyRule(rule)?.proxy) > proxyCount);
  if (index >= 0)
    throw new SettingError(`${name} must be ${PROXY_RULES}; entry ${index + 1} is beyond its ${proxyCount} proxies`);
}

/** Which browser the requests of yt-dlp to a site imitate. */
interface ImpersonationRule {
  /** Absent: every site that no other rule names. */
  readonly site?: SitePattern;
  /** As `--impersonate` of yt-dlp, in lower case: `chrome`, `chrome-131`, `chrome:windows-10`. */
  readonly target: string;
}

const IMPERSONATION_RULE = /^(?:([^=]+)=)?([a-z]+(?:-[\d.]+)?(?::[a-z]+(?:-[\d.]+)?)?)$/i;

/** Parses `target` or `site=target`. Undefined when it is something else. */
export function parseImpersonationRule(text: string): ImpersonationRule | undefined {
  const [, pattern, target] = IMPERSONATION_RULE.exec(text) ?? [];
  const site = pattern === undefined ? undefined : parseSitePattern(pattern);
  if (!target || (pattern !== undefined && !site)) return undefined;
  return { site, target: target.toLowerCase() };
}

const IMPERSONATE =
  'a comma list of browsers such as chrome or site=chrome-131:macos, at most one of them without a site';

const impersonationRules = secretList(IMPERSONATE, (item) => (parseImpersonationRule(item) ? item : undefined));

/** Rules for impersonation, as text. */
export const impersonate = defineParser(IMPERSONATE, (name, text): string[] => {
  const rules = impersonationRules(name, text);
  if (rules.filter((rule) => !parseImpersonationRule(rule)?.site).length > 1)
    throw new SettingError(`${name} must be ${IMPERSONATE}`);
  return rules;
});
