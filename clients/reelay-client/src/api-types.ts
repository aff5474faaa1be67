/** Generated from the description of the API by `npm run dev -- docs`. */


export interface paths {
  "/api/App": {
    /** Reports version and health, including why the instance is in maintenance */
    get: operations["GetAppInfo"];
  };
  "/api/App/requests": {
    /** Reports how many resolve requests this instance has served */
    get: operations["GetRequestCount"];
  };
  "/api/Fetch/GetResource": {
    /** Resolves a media URL into metadata and available renditions */
    get: operations["GetResource"];
  };
  "/api/Fetch/GetDetails": {
    /** Resolves a media URL into description, date, chapters, thumbnails and subtitles */
    get: operations["GetDetails"];
  };
  "/api/Fetch/GetPlayback": {
    /** Resolves a media URL into files that a player can seek in, with their codecs */
    get: operations["GetPlayback"];
  };
  "/api/Get": {
    /** Resolves a media URL and redirects to the stream of one rendition */
    get: operations["Get"];
  };
  "/api/Feed": {
    /** Resolves a list into a podcast, a playlist for players, or a list for download managers, whose links resolve again when they are used */
    get: operations["Feed"];
  };
  "/mcp": {
    /** The Model Context Protocol (streamable HTTP, stateless): tools for assistants */
    post: operations["Mcp"];
  };
  "/api/Stream/Media/{key}": {
    /** Streams one rendition, whole or by range */
    get: operations["Media"];
  };
  "/api/Stream/Hls/{key}/master.m3u8": {
    /** The HLS master playlist (RFC 8216) of a rendition in MP4, for Apple players, AirPlay, Chromecast and hls.js */
    get: operations["HlsMaster"];
  };
  "/api/Stream/Hls/{key}/{file}": {
    /** A file that the HLS master playlist of a rendition refers to */
    get: operations["HlsFile"];
  };
  "/api/Stream/Subtitle/{key}": {
    /** A subtitle file, converted to the requested format */
    get: operations["Subtitle"];
  };
  "/api/Stream/Cover/{key}": {
    /** The cover of the item that a rendition belongs to, as the source has it */
    get: operations["Cover"];
  };
  "/api/Stream/Segments/{key}": {
    /** The segments that viewers have reported of an item, which skip leaves out; none without SPONSORBLOCK_URL */
    get: operations["Segments"];
  };
  "/api/Stream/Archive": {
    /** Resolves a list and redirects to the archive of its sound, as Get does with format=zip and quality=audio */
    get: operations["ArchiveList"];
  };
  "/api/Stream/Archive/Progress/{jobId}": {
    /** Reports how far an archive is, as server-sent events */
    get: operations["ArchiveProgress"];
  };
  "/api/Stream/Archive/{key}": {
    /** Streams the entries of a list as one archive, one after another */
    get: operations["Archive"];
  };
  "/api/Stream/Combined/{key}": {
    /** Muxes separate video and audio into MP4 while sending */
    get: operations["Combined"];
  };
}

export type webhooks = Record<string, never>;

export interface components {
  schemas: {
    AppInfo: {
      version: string | null;
      isHealthy: boolean;
      environment: string | null;
      maintenance?: string | null;
    };
    ArchiveProgress: {
      /** @enum {string} */
      state: "building" | "done" | "failed";
      /** Format: int32 */
      total: number;
      /** Format: int32 */
      completed: number;
      current: string | null;
      /** Format: int32 */
      skipped: number;
      /** @description Titles of the first 20 entries that are missing */
      missingEntries?: string[];
    };
    AudioVersion: {
      key: string | null;
      label: string | null;
      description?: string | null;
      fileExtension: string | null;
      mimeType: string | null;
      /** Format: int64 */
      fileSizeBytes?: number | null;
      /** Format: double */
      bitrate?: number | null;
      language?: string | null;
      isOriginal: boolean;
      isDubbed: boolean;
      isDescriptive: boolean;
      isDrc: boolean;
    };
    Chapter: {
      title: string | null;
      /** Format: double */
      startSeconds: number;
      /** Format: double */
      endSeconds?: number | null;
    };
    ItemSegments: {
      segments: components["schemas"]["Segment"][];
    };
    MediaDetails: {
      type: components["schemas"]["MediaType"];
      title: string | null;
      author: string | null;
      coverUrl: string | null;
      /** Format: double */
      durationSeconds?: number | null;
      isLive: boolean;
      /** Format: int32 */
      availableInSeconds?: number | null;
      description?: string | null;
      uploadDate?: string | null;
      tags: string[];
      chapters: components["schemas"]["Chapter"][];
      thumbnails: components["schemas"]["Thumbnail"][];
      audio: components["schemas"]["AudioVersion"][];
      subtitles: components["schemas"]["SubtitleInformation"][];
      /** @description A key for Segments; null where the instance can know none of the item */
      segmentsKey?: string | null;
    };
    MediaInformation: {
      requestedUrl: string | null;
      video?: components["schemas"]["StreamReference"];
      audio?: components["schemas"]["StreamReference"];
      coverUrl: string | null;
      title: string | null;
      author: string | null;
    };
    MediaRendition: {
      key: string | null;
      label: string | null;
      description?: string | null;
      fileExtension: string | null;
      mimeType: string | null;
      urlType?: components["schemas"]["UrlType"];
      /** Format: int64 */
      fileSizeBytes?: number | null;
      /** Format: int32 */
      height?: number | null;
      /** Format: double */
      bitrate?: number | null;
      convertTo?: string | null;
    };
    /** @enum {string} */
    MediaType: "Media" | "PlayList" | "Unknown";
    Playback: {
      requestedUrl: string;
      title: string;
      author: string;
      coverUrl: string | null;
      /** Format: double */
      durationSeconds: number | null;
      video: components["schemas"]["PlaybackTrack"][];
      audio: components["schemas"]["PlaybackTrack"][];
      muxed: components["schemas"]["PlaybackTrack"][];
      subtitles: components["schemas"]["PlaybackSubtitle"][];
    };
    PlaybackSubtitle: {
      key: string;
      /** @description Relative to the origin of the instance: WebVTT */
      path: string;
      language: string;
      name: string;
      automatic: boolean;
    };
    PlaybackTrack: {
      key: string;
      /** @description Relative to the origin of the instance, with length and ranges */
      path: string;
      label: string;
      description: string | null;
      /** @description With codecs where they are known, as canPlayType takes it */
      contentType: string;
      mimeType: string;
      codec: string | null;
      /** Format: int32 */
      width: number | null;
      /** Format: int32 */
      height: number | null;
      /** Format: double */
      fps: number | null;
      /**
       * Format: double
       * @description kbit/s
       */
      bitrate: number | null;
      /** Format: int64 */
      fileSizeBytes: number | null;
    };
    ProblemDetails: {
      /** @description The class of the problem: /problems/bad-url, /problems/bad-parameter, /problems/unauthorized, /problems/link-refused, /problems/cross-site, /problems/unknown-host, /problems/private-address, /problems/not-found, /problems/no-media, /problems/not-started, /problems/ended, /problems/gone, /problems/method-not-allowed, /problems/login, /problems/age, /problems/private, /problems/members, /problems/payment, /problems/drm, /problems/region, /problems/bot-check, /problems/refused, /problems/unsupported, /problems/unsupported-rendition, /problems/too-large, /problems/range-not-satisfiable, /problems/unknown-instance, /problems/too-many, /problems/headers-too-large, /problems/disconnected, /problems/internal, /problems/rate-limited, /problems/site-error, /problems/site-timeout, /problems/site-changed, /problems/service-failed, /problems/maintenance, /problems/starting, /problems/delayed, /problems/busy */
      type?: string | null;
      title?: string | null;
      /** Format: int32 */
      status?: number | null;
      detail?: string | null;
      instance?: string | null;
    };
    RequestCount: {
      /** Format: int32 */
      schemaVersion: number;
      label: string;
      message: string;
      color: string;
    };
    ResourceInformation: {
      type: components["schemas"]["MediaType"];
      title?: string | null;
      author?: string | null;
      coverUrl?: string | null;
      mediaItems: components["schemas"]["MediaInformation"][] | null;
    };
    Segment: {
      /** @enum {string} */
      category: "sponsor" | "selfpromo" | "interaction" | "intro" | "outro" | "preview" | "hook" | "filler" | "music_offtopic";
      /** Format: double */
      startSeconds: number;
      /** Format: double */
      endSeconds: number;
    };
    StreamReference: {
      bestQualityDescription?: string | null;
      bestQualityKey?: string | null;
      bestQualityFileExtension?: string | null;
      bestQualityMimeType?: string | null;
      mediumQualityDescription?: string | null;
      mediumQualityKey?: string | null;
      mediumQualityFileExtension?: string | null;
      mediumQualityMimeType?: string | null;
      worstQualityDescription?: string | null;
      worstQualityKey?: string | null;
      worstQualityFileExtension?: string | null;
      worstQualityMimeType?: string | null;
      urlType?: components["schemas"]["UrlType"];
      renditions?: components["schemas"]["MediaRendition"][] | null;
    };
    SubtitleInformation: {
      key: string | null;
      language: string | null;
      name?: string | null;
      isAutomatic: boolean;
    };
    Thumbnail: {
      url: string | null;
      /** Format: int32 */
      width?: number | null;
      /** Format: int32 */
      height?: number | null;
    };
    /** @enum {string} */
    UrlType: "Combined" | "Media";
  };
  responses: never;
  parameters: never;
  requestBodies: never;
  headers: never;
  pathItems: never;
}

export type $defs = Record<string, never>;

export type external = Record<string, never>;

export interface operations {

  /** Reports version and health, including why the instance is in maintenance */
  GetAppInfo: {
    responses: {
      /** @description The state of the instance */
      200: {
        content: {
          "application/json": components["schemas"]["AppInfo"];
        };
      };
    };
  };
  /** Reports how many resolve requests this instance has served */
  GetRequestCount: {
    responses: {
      /** @description A badge for shields.io; the number in X-Request-Count */
      200: {
        content: {
          "application/json": components["schemas"]["RequestCount"];
        };
      };
    };
  };
  /** Resolves a media URL into metadata and available renditions */
  GetResource: {
    parameters: {
      query?: {
        /** @description The media link to resolve */
        url?: string;
      };
      header?: {
        /** @description wait=3 answers after about 3 seconds with the entries of a list that are resolved by then; the others have neither video nor audio. The same request later continues with them */
        Prefer?: string;
      };
    };
    responses: {
      /** @description The metadata of the link, and every rendition */
      200: {
        content: {
          "application/json": components["schemas"]["ResourceInformation"];
        };
      };
    };
  };
  /** Resolves a media URL into description, date, chapters, thumbnails and subtitles */
  GetDetails: {
    parameters: {
      query?: {
        /** @description The media link to resolve */
        url?: string;
      };
    };
    responses: {
      /** @description The details of the item */
      200: {
        content: {
          "application/json": components["schemas"]["MediaDetails"];
        };
      };
    };
  };
  /** Resolves a media URL into files that a player can seek in, with their codecs */
  GetPlayback: {
    parameters: {
      query?: {
        /** @description The media link to resolve */
        url?: string;
      };
    };
    responses: {
      /** @description The files of the item */
      200: {
        content: {
          "application/json": components["schemas"]["Playback"];
        };
      };
    };
  };
  /** Resolves a media URL and redirects to the stream of one rendition */
  Get: {
    parameters: {
      query?: {
        /** @description The media link to resolve */
        url?: string;
        /** @description best (default), worst, a maximum height such as 1080p, audio, or mp3 */
        quality?: string;
        /** @description any selects the best of all codecs instead of the best that plays everywhere */
        codec?: string;
        /** @description The best that is sent with at most so many bytes, such as 10000000: exact sizes as they are, estimates with 5 % more, those of parts with 25 %. MP3 has the highest bit rate up to bitrate that fits. What has no known size does not fit; 404 names the smallest */
        maxBytes?: string;
        /** @description mp3, m4a, opus, flac, wav converts the audio of the selection; zip redirects to an archive of all entries of a list */
        format?: string;
        /** @description kbit/s of MP3: 128, 192, 256, 320; 192 by default */
        bitrate?: "128" | "192" | "256" | "320";
        /** @description true adds title, artist, album, track number, date, link, cover and chapters to MP3, copies of the audio, pairs and clips. The file has its own length and ETag */
        tags?: "true" | "false";
        /** @description Language of subtitles to embed in MP4 with video as a text track, as GetDetails lists it */
        subtitles?: string;
        /** @description Language of the audio (en finds en-US), original, or all: a video with every language as a track of its own. As it is by default */
        audio?: string;
        /** @description Seconds, such as 12.5: only the part from there on, as a file of its own, of a conversion or of MP4 files that can be sought in. Of a live stream: seconds before now, such as -300, or a time of day, such as 2026-11-23T20:00:00Z */
        start?: string;
        /** @description Seconds: only the part up to there. May be later than the end. Of a live stream: as start */
        end?: string;
        /** @description Number of a chapter, from 1, as GetDetails lists them: only that part, as with start and end, and named by its title */
        chapter?: string;
        /** @description Segments of a video of YouTube to leave out, by the reports of viewers: sponsor, selfpromo, interaction, intro, outro, preview, hook, filler, music_offtopic, separated by commas. Of MP4 files that can be sought in, M4A, MP3 and WAV; needs SPONSORBLOCK_URL */
        skip?: string;
        /** @description Segments to write as chapters, as those of skip, between the chapters of the item. Includes tags=true */
        mark?: string;
        /** @description Of an archive: Number of the first entry, from 1: continues an interrupted archive that has no length */
        from?: string;
        /** @description Of an archive: Numbers of entries of a list, from 1, such as 1-3,7; all by default */
        entries?: string;
        /** @description chapters: an archive of one item, with a file for each of its chapters, numbered and with tags unless tags=false. 415 for an item without chapters */
        split?: "chapters";
      };
    };
    responses: {
      /** @description Location is the stream */
      302: {
        content: {
        };
      };
    };
  };
  /** Resolves a list into a podcast, a playlist for players, or a list for download managers, whose links resolve again when they are used */
  Feed: {
    parameters: {
      query?: {
        /** @description The media link to resolve */
        url?: string;
        /** @description rss (default): a podcast. m3u8: a playlist for players. metalink: names, sizes and addresses of the files, for download managers (RFC 5854). chapters: those of one item, as JSON. transcript: redirects to the subtitles of one item, as WebVTT */
        format?: string;
        /** @description As for Get, of each entry; mp3 by default with rss, else best */
        quality?: string;
        /** @description As for Get */
        codec?: string;
        /** @description As for Get, of each entry */
        maxBytes?: string;
        /** @description kbit/s of MP3: 128, 192, 256, 320; 192 by default */
        bitrate?: "128" | "192" | "256" | "320";
        /** @description true adds title, artist, album, track number, date, link, cover and chapters to MP3, copies of the audio, pairs and clips. The file has its own length and ETag */
        tags?: "true" | "false";
        /** @description As for Get, of each entry */
        audio?: string;
        /** @description Segments of a video of YouTube to leave out, by the reports of viewers: sponsor, selfpromo, interaction, intro, outro, preview, hook, filler, music_offtopic, separated by commas. Of MP4 files that can be sought in, M4A, MP3 and WAV; needs SPONSORBLOCK_URL */
        skip?: string;
        /** @description Segments to write as chapters, as those of skip, between the chapters of the item. Includes tags=true */
        mark?: string;
        /** @description Numbers of entries of a list, from 1, such as 1-3,7; all by default */
        entries?: string;
      };
    };
    responses: {
      /** @description The feed */
      200: {
        content: {
          "application/rss+xml": string;
          "audio/x-mpegurl": string;
          "application/metalink4+xml": string;
          "application/json+chapters": string;
        };
      };
      /** @description Location is the transcript */
      302: {
        content: {
        };
      };
      /** @description If-None-Match has the ETag of the feed */
      304: {
        content: {
        };
      };
    };
  };
  /** The Model Context Protocol (streamable HTTP, stateless): tools for assistants */
  Mcp: {
    /** @description One JSON-RPC 2.0 message of the protocol */
    requestBody: {
      content: {
        "application/json": {
          [key: string]: unknown;
        };
      };
    };
    responses: {
      /** @description The answer to the message; what a tool fails with is part of it */
      200: {
        content: {
          "application/json": {
            [key: string]: unknown;
          };
          "text/event-stream": unknown;
        };
      };
      /** @description A notification was accepted */
      202: {
        content: {
        };
      };
    };
  };
  /** Streams one rendition, whole or by range */
  Media: {
    parameters: {
      query?: {
        /** @description mp3, m4a, opus, flac, wav converts the audio */
        format?: string;
        /** @description kbit/s of MP3: 128, 192, 256, 320; 192 by default */
        bitrate?: "128" | "192" | "256" | "320";
        /** @description true adds title, artist, album, track number, date, link, cover and chapters to MP3, copies of the audio, pairs and clips. The file has its own length and ETag */
        tags?: "true" | "false";
        /** @description Language of subtitles to embed in MP4 with video as a text track, as GetDetails lists it */
        subtitles?: string;
        /** @description Language of the audio (en finds en-US), original, or all: a video with every language as a track of its own. As it is by default */
        audio?: string;
        /** @description Seconds, such as 12.5: only the part from there on, as a file of its own, of a conversion or of MP4 files that can be sought in. Of a live stream: seconds before now, such as -300, or a time of day, such as 2026-11-23T20:00:00Z */
        start?: string;
        /** @description Seconds: only the part up to there. May be later than the end. Of a live stream: as start */
        end?: string;
        /** @description Number of a chapter, from 1, as GetDetails lists them: only that part, as with start and end, and named by its title */
        chapter?: string;
        /** @description Media sequence numbers of live HLS or DASH, such as 100-149: that part of what its source holds, as a file of its own */
        segments?: string;
        /** @description Segments of a video of YouTube to leave out, by the reports of viewers: sponsor, selfpromo, interaction, intro, outro, preview, hook, filler, music_offtopic, separated by commas. Of MP4 files that can be sought in, M4A, MP3 and WAV; needs SPONSORBLOCK_URL */
        skip?: string;
        /** @description Segments to write as chapters, as those of skip, between the chapters of the item. Includes tags=true */
        mark?: string;
        /** @description Name of the file in Content-Disposition, without extension. Characters that file systems reserve are removed; what is in brackets at the end of a long name stays */
        name?: string;
      };
      path: {
        /** @description A key taken from a resolve response */
        key: string;
      };
    };
    responses: {
      /** @description The media bytes, whole */
      200: {
        content: {
          "video/*": string;
          "audio/*": string;
        };
      };
      /** @description The requested part of the media bytes */
      206: {
        content: {
          "video/*": string;
          "audio/*": string;
        };
      };
      /** @description Location is the part of the live stream by its segments */
      302: {
        content: {
        };
      };
      /** @description If-None-Match has the ETag */
      304: {
        content: {
        };
      };
    };
  };
  /** The HLS master playlist (RFC 8216) of a rendition in MP4, for Apple players, AirPlay, Chromecast and hls.js */
  HlsMaster: {
    parameters: {
      query?: {
        /** @description As for Media; of a pair by default every language in the codec of its own audio, the original first */
        audio?: string;
      };
      path: {
        /** @description A key taken from a resolve response */
        key: string;
      };
    };
    responses: {
      /** @description The playlist, whole */
      200: {
        content: {
          "application/vnd.apple.mpegurl": string;
        };
      };
      /** @description The requested part of the playlist */
      206: {
        content: {
          "application/vnd.apple.mpegurl": string;
        };
      };
      /** @description If-None-Match has the ETag */
      304: {
        content: {
        };
      };
    };
  };
  /** A file that the HLS master playlist of a rendition refers to */
  HlsFile: {
    parameters: {
      query?: {
        /** @description As in the URLs of the master playlist */
        audio?: string;
        /** @description The version of the media that the playlist refers to, as in its URLs */
        entity?: string;
      };
      path: {
        /** @description A key taken from a resolve response */
        key: string;
        /** @description all.m3u8 and all.mpd (HLS and DASH of every height in the same codecs, from which players choose by bandwidth), video.m3u8, audio.m3u8, audio-2.m3u8 and so on, both.m3u8, media.mp4, media-2.mp4 and so on, chapters.json; of a live stream held.m3u8 and its segments too */
        file: string;
      };
    };
    responses: {
      /** @description The file, whole */
      200: {
        content: {
          "application/vnd.apple.mpegurl": string;
          "application/dash+xml": string;
          "video/mp4": string;
          "application/json": {
            [key: string]: unknown;
          };
          "text/vtt": string;
          "image/*": string;
        };
      };
      /** @description The requested part of the file */
      206: {
        content: {
          "application/vnd.apple.mpegurl": string;
          "application/dash+xml": string;
          "video/mp4": string;
          "application/json": {
            [key: string]: unknown;
          };
          "text/vtt": string;
          "image/*": string;
        };
      };
      /** @description If-None-Match has the ETag */
      304: {
        content: {
        };
      };
    };
  };
  /** A subtitle file, converted to the requested format */
  Subtitle: {
    parameters: {
      query?: {
        /** @description vtt, srt, txt (a transcript); vtt by default */
        format?: string;
      };
      path: {
        /** @description A key taken from a resolve response */
        key: string;
      };
    };
    responses: {
      /** @description The file, whole */
      200: {
        content: {
          "text/vtt": string;
          "application/x-subrip": string;
          "text/plain": string;
        };
      };
      /** @description The requested part of the file */
      206: {
        content: {
          "text/vtt": string;
          "application/x-subrip": string;
          "text/plain": string;
        };
      };
      /** @description If-None-Match has the ETag */
      304: {
        content: {
        };
      };
    };
  };
  /** The cover of the item that a rendition belongs to, as the source has it */
  Cover: {
    parameters: {
      path: {
        /** @description A key taken from a resolve response */
        key: string;
      };
    };
    responses: {
      /** @description The picture, whole */
      200: {
        content: {
          "image/*": string;
        };
      };
      /** @description The requested part of the picture */
      206: {
        content: {
          "image/*": string;
        };
      };
      /** @description If-None-Match has the ETag */
      304: {
        content: {
        };
      };
    };
  };
  /** The segments that viewers have reported of an item, which skip leaves out; none without SPONSORBLOCK_URL */
  Segments: {
    parameters: {
      path: {
        /** @description The key of any rendition of the item */
        key: string;
      };
    };
    responses: {
      /** @description The segments, as the service lists them */
      200: {
        content: {
          "application/json": components["schemas"]["ItemSegments"];
        };
      };
    };
  };
  /** Resolves a list and redirects to the archive of its sound, as Get does with format=zip and quality=audio */
  ArchiveList: {
    parameters: {
      query?: {
        /** @description The media link to resolve */
        url?: string;
        /** @description An id of up to 64 characters that the client chooses, such as a UUID: ArchiveProgress reports on a ZIP by it */
        jobId?: string;
      };
    };
    responses: {
      /** @description Location is the archive */
      302: {
        content: {
        };
      };
    };
  };
  /** Reports how far an archive is, as server-sent events */
  ArchiveProgress: {
    parameters: {
      path: {
        /** @description An id of up to 64 characters that the client chooses, such as a UUID: ArchiveProgress reports on a ZIP by it */
        jobId: string;
      };
    };
    responses: {
      /** @description An unnamed event for each change, whose data is an ArchiveProgress in JSON; the last one is done or failed. A job that nobody begins within 30 seconds has failed */
      200: {
        content: {
          "text/event-stream": unknown;
        };
      };
    };
  };
  /** Streams the entries of a list as one archive, one after another */
  Archive: {
    parameters: {
      query?: {
        /** @description As for Get, of each entry */
        quality?: string;
        /** @description As for Get */
        codec?: string;
        /** @description As for Get, of each entry */
        maxBytes?: string;
        /** @description kbit/s of MP3: 128, 192, 256, 320; 192 by default */
        bitrate?: "128" | "192" | "256" | "320";
        /** @description true adds title, artist, album, track number, date, link, cover and chapters to MP3, copies of the audio, pairs and clips. The file has its own length and ETag */
        tags?: "true" | "false";
        /** @description As for Get, of each entry */
        audio?: string;
        /** @description Segments of a video of YouTube to leave out, by the reports of viewers: sponsor, selfpromo, interaction, intro, outro, preview, hook, filler, music_offtopic, separated by commas. Of MP4 files that can be sought in, M4A, MP3 and WAV; needs SPONSORBLOCK_URL */
        skip?: string;
        /** @description Segments to write as chapters, as those of skip, between the chapters of the item. Includes tags=true */
        mark?: string;
        /** @description zip, or absent */
        format?: string;
        /** @description Number of the first entry, from 1: continues an interrupted archive that has no length */
        from?: string;
        /** @description An id of up to 64 characters that the client chooses, such as a UUID: ArchiveProgress reports on a ZIP by it */
        jobId?: string;
      };
      path: {
        /** @description The key in the location that Get answers for a list with format=zip */
        key: string;
      };
    };
    responses: {
      /** @description The archive, from the beginning */
      200: {
        content: {
          "application/zip": string;
        };
      };
      /** @description The requested part of an archive of known length */
      206: {
        content: {
          "application/zip": string;
        };
      };
    };
  };
  /** Muxes separate video and audio into MP4 while sending */
  Combined: {
    parameters: {
      query?: {
        /** @description Language of subtitles to embed in MP4 with video as a text track, as GetDetails lists it */
        subtitles?: string;
        /** @description Language of the audio (en finds en-US), original, or all: a video with every language as a track of its own. As it is by default */
        audio?: string;
        /** @description Segments of a video of YouTube to leave out, by the reports of viewers: sponsor, selfpromo, interaction, intro, outro, preview, hook, filler, music_offtopic, separated by commas. Of MP4 files that can be sought in, M4A, MP3 and WAV; needs SPONSORBLOCK_URL */
        skip?: string;
        /** @description Segments to write as chapters, as those of skip, between the chapters of the item. Includes tags=true */
        mark?: string;
        /** @description Seconds, such as 12.5: from the keyframe at or before it on, where the rendition consists of MP4 files that can be sought in. X-Argon-Start is the time of that keyframe */
        start?: string;
      };
      path: {
        /** @description A key taken from a resolve response */
        key: string;
      };
    };
    responses: {
      /** @description The MP4 stream, from the beginning; codecs that MP4 cannot hold in their own container */
      200: {
        content: {
          "video/*": string;
          "audio/*": string;
        };
      };
    };
  };
}

/** The name in the `type` of problem details: `/problems/NAME` of an instance describes it. */
export type ProblemName =
  | 'bad-url'
  | 'bad-parameter'
  | 'unauthorized'
  | 'link-refused'
  | 'cross-site'
  | 'unknown-host'
  | 'private-address'
  | 'not-found'
  | 'no-media'
  | 'not-started'
  | 'ended'
  | 'gone'
  | 'method-not-allowed'
  | 'login'
  | 'age'
  | 'private'
  | 'members'
  | 'payment'
  | 'drm'
  | 'region'
  | 'bot-check'
  | 'refused'
  | 'unsupported'
  | 'unsupported-rendition'
  | 'too-large'
  | 'range-not-satisfiable'
  | 'unknown-instance'
  | 'too-many'
  | 'headers-too-large'
  | 'disconnected'
  | 'internal'
  | 'rate-limited'
  | 'site-error'
  | 'site-timeout'
  | 'site-changed'
  | 'service-failed'
  | 'maintenance'
  | 'starting'
  | 'delayed'
  | 'busy';
