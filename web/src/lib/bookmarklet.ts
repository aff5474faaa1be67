/** A bookmarklet that opens the current page's address here. @param page this page's origin */
export function bookmarklet(page: string): string {
  const target = JSON.stringify(`${new URL(page).origin}/?url=`);
  return `javascript:${encodeURIComponent(`void open(${target}+encodeURIComponent(location.href))`)}`;
}
