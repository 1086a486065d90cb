// Ranks the results of the search: by the words that describe a page, which website.py counts.
const PAGES = "@PAGES@";

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+(?:-[\p{L}\p{N}]+)*/gu) || [];

// What a page is about, by its file: codel, rrul.
const nameOf = (page) => page.replace(/\/README$/, "").split("/").pop().replaceAll("_", "-");

// Summaries are read from the pages, which a browser does not do for files on a disk.
if (location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 20,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
  score: (result) => {
    const page = PAGES[result[0]];
    if (!page) return result[4];
    const query = (new URLSearchParams(location.search).get("q") || "").trim().toLowerCase();
    let score = result[4] + page.rank;
    if (page.keywords.includes(query)) score += 60;
    if (nameOf(result[0]) === query.replace(/[ _]/g, "-")) score += 60;
    for (const word of new Set(wordsOf(query))) {
      score += page.words[word] || page.words[word.replace(/s$/, "")] || 0;
    }
    if (!DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY) result[3] = page.about;
    return score;
  },
};
