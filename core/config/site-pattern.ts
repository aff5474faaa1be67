/** A site in a rule: `host`, which includes its subdomains, or `*.host`. */
export interface SitePattern {
  /** In lower case. */
  readonly host: string;
  /** `*.host`: the subdomains alone. */
  readonly subdomainsOnly: boolean;
}

const PATTERN = /^(\*\.)?([^\s*=/?#@:\\]+)$/;

/** Undefined when it is something else. */
export function parseSitePattern(text: string): SitePattern | undefined {
  const [, wildcard, name] = PATTERN.exec(text) ?? [];
  const host = name && URL.parse(`http://${name}/`)?.hostname.replace(/\.$/, '');
  return host ? { host, subdomainsOnly: wildcard !== undefined } : undefined;
}

/** Whether a link is of the site. False for text that is no URL. */
export function matchesSite({ host, subdomainsOnly }: SitePattern, link: string): boolean {
  const name = URL.parse(link)?.hostname.replace(/\.$/, '') ?? '';
  return (name === host && !subdomainsOnly) || name.endsWith(`.${host}`);
}
