import { localHeader } from '@reelay/seekable-media/zip';
import { libraryName } from '../../../clients/reelay-client/src/folder/library.ts';
import { contentDisposition, fileName } from '../../../core/http/file-name.ts';
import { describeError } from '../../../core/log/index.ts';
import { feedItems, toFeed } from '../../../lambdas/api/feed.ts';
import { writeM3u8 } from '../../../lambdas/api/get-feed.ts';
import { writeRss } from '../../../lambdas/api/rss.ts';
import { listContents } from '../../../stream-service/outputs/archive/entries.ts';
import { check, type FuzzTargets, header, LINEAR } from './target.ts';

const feedEntry = (title: string) => ({ url: 'https://a.example/1', title, author: title, coverUrl: null });

/** Texts of sources in names, feeds and logs. */
export const output: FuzzTargets = {
  'file-name': {
    run(input) {
      const naming = { title: input.toString().slice(0, 500), author: header(input).slice(0, 500) };
      const name = fileName(naming, '.mp4');
      check(Buffer.byteLength(name) <= 200 && !/[\p{Cc}\p{Cs}/\\:*?"<>|]/u.test(name), 'Not a file name');
      check(!/^(?:con|prn|aux|nul|com\d|lpt\d)\s*(?:\.|$)/i.test(name), 'A device of Windows');
      check(/^[\x20-\x7e]+$/.test(contentDisposition(naming, '.mp4')), 'Not a header');
    },
    maxSteps: { fixed: 50_000, perByte: 200 },
  },
  'archive-names': {
    run(input) {
      const [title = '', other = ''] = [input.toString().slice(0, 500), header(input).slice(0, 500)];
      const entry = { url: 'https://a.example/', title: other, author: null, coverUrl: null };
      const list = { id: '', url: 'https://a.example/list', title, author: null, entries: [entry], expiresAt: 0 };
      const { pathOf, indexFile } = listContents(list, { from: 1 });
      const path = pathOf(1, { title: other, author: null }, '.mp4');
      check(/^[^./\\][^/\\]*\/01 - [^/\\]+\.mp4$/.test(path), 'A path that leaves its folder');
      check(Buffer.byteLength(path) <= 206, 'Too long');
      const item = libraryName({ title: other, author: title }, entry.url);
      check(/^[^./\\][^/\\]*$/.test(item), 'A name that leaves the folder of its library');
      check(Buffer.byteLength(item) <= 72 && !/-trailer|[!-._ /]sample[-._ /]/i.test(item), 'Too long, or excluded');
      const lines = indexFile([{ number: 1, reason: other }]).text.split(/[\r\n\u2028\u2029]/);
      check(lines.length === 8, 'A text that adds lines to the index');
      check(localHeader({ path: title, size: 1, modifiedAt: new Date(0) }).length < 65_536, 'Too long');
    },
    maxSteps: { fixed: 100_000, perByte: 500 },
  },
  feed: {
    run(input) {
      const text = input.toString().slice(0, 2000);
      const options = { link: 'https://a.example/', baseUrl: 'https://b.example' };
      const wanted = { ...options, selection: { quality: 'mp3' } } as const;
      const feedOf = (title: string) => {
        const items = [{ entry: feedEntry(title) }];
        const resolved = { type: 'PlayList', title, author: title, coverUrl: null, items } as const;
        return toFeed(resolved, wanted, feedItems(resolved, wanted));
      };
      const rss = writeRss(feedOf(text));
      check(!/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(rss), 'A character that XML excludes');
      const tagsOf = (document: string) => document.match(/<[^<>]*>/g)?.map((tag) => tag.split(' ', 1)[0]);
      const isEmpty = text.replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '') === '';
      check(isEmpty || `${tagsOf(rss)}` === `${tagsOf(writeRss(feedOf('x')))}`, 'A text that adds tags');
      check(!/&(?!(?:amp|lt|gt|quot|apos);)/.test(rss), 'An entity of the source');
      check(writeM3u8(feedOf(text)).split(/[\r\n\u2028\u2029]/).length === 5, 'A text that adds lines');
    },
    // URLs that are built and parsed again.
    maxSteps: { fixed: 500_000, perByte: 2000 },
  },
  'log-text': {
    run(input) {
      const text = describeError(new Error(input.toString()));
      check(text.length <= 4000, 'Too long');
    },
    maxSteps: LINEAR,
  },
};
