/** A bookmarklet that opens the current page's address here. @param page this page's address without a slash at its end */
export function bookmarklet(page: string): string {
  const target = JSON.stringify(`${page}/?url=`);
  return `javascript:${encodeURIComponent(`void open(${target}+encodeURIComponent(location.href))`)}`;
}
