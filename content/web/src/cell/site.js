// Where the site is: the bundles lie in <site>/static/zero-…/, whatever path the site is served from.

export const siteBase = new URL('../../', import.meta.url);
