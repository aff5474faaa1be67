/** Directive of a page that no other page may frame. */
const NO_FRAMES = "frame-ancestors 'none'";

/**
 * Headers of a page, changed so that pages of these origins, or of any for `*`, may frame it. X-Frame-Options cannot name them.
 * @throws Error when the policy of the page does not say that no one may
 */
export function framedBy(
  headers: Readonly<Record<string, string>>,
  origins: readonly string[],
): Readonly<Record<string, string>> {
  const { 'X-Frame-Options': _, 'Content-Security-Policy': policy = '', ...others } = headers;
  if (!policy.includes(NO_FRAMES)) throw new Error(`The Content-Security-Policy must have ${NO_FRAMES}`);
  const ancestors = `frame-ancestors ${origins.join(' ')}`;
  return { ...others, 'Content-Security-Policy': policy.replace(NO_FRAMES, () => ancestors) };
}
