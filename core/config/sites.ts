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
