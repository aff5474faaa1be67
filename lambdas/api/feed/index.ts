export { createGetFeed, type GetFeedOptions } from './get-feed.ts';
