/** A bookmark that opens the page it is clicked on here. `page`: this page's origin. */
export function bookmarklet(page: string): string {
  const target = JSON.stringify(`${new URL(page).origin}/?url=`);
  return `javascript:${encodeURIComponent(`void open(${target}+encodeURIComponent(location.href))`)}`;
}
