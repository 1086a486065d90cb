// Lessons: Markdown with what the figure shows in its first comment, and a study beside it.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");

/** Markdown within a line: code, strong, links. */
function inline(text) {
  const parts = text.split(/(`[^`]+`)/);
  return parts
    .map((part) =>
      part.startsWith("`") && part.length > 2
        ? `<code>${escape(part.slice(1, -1))}</code>`
        : escape(part)
            .replace(/\*\*([^*]+)\*\*/g, "<strong>$1</strong>")
            .replace(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>'),
    )
    .join("");
}

/** Markdown of paragraphs and lists. */
function blocks(text) {
  return text
    .trim()
    .split(/\n{2,}/)
    .map((block) => {
      const lines = block.split("\n");
      if (lines.every((line) => /^(\d+\.|-|\s{2,})\s*/.test(line)) && /^(\d+\.|-)\s/.test(lines[0])) {
        const ordered = /^\d/.test(lines[0]);
        const items = block.split(/\n(?=(?:\d+\.|-)\s)/).map((item) => item.replace(/^(\d+\.|-)\s+/, "").replace(/\s*\n\s*/g, " "));
        const tag = ordered ? "ol" : "ul";
        return `<${tag}>${items.map((item) => `<li>${inline(item)}</li>`).join("")}</${tag}>`;
      }
      return `<p>${inline(lines.join(" "))}</p>`;
    })
    .join("\n");
}

/** A lesson: title, question, parts. */
export function readLesson(folder, name) {
  const text = readFileSync(join(folder, name, "lesson.md"), "utf8");
  const figure = /^<!--\s*(\{.*?\})\s*-->\s*/s.exec(text);
  if (!figure) throw new Error(`${name}: the first comment says what the figure shows`);
  const body = text.slice(figure[0].length);
  const title = /^# (.+)$/m.exec(body)?.[1];
  const sections = body.split(/^## /m).slice(1).map((section) => {
    const end = section.indexOf("\n");
    return [section.slice(0, end).trim(), section.slice(end + 1).trim()];
  });
  const get = (heading) => {
    const found = sections.find(([own]) => own === heading);
    if (!found) throw new Error(`${name}: no section ${heading}`);
    return found[1];
  };
  return {
    name: name.replace(/^\d+-/, ""),
    folder: name,
    title,
    figure: JSON.parse(figure[1]),
    question: get("Question").replace(/\s*\n\s*/g, " "),
    before: get("What you see"),
    things: get("Try"),
    answer: get("Answer"),
  };
}

/** A table of Markdown. */
function table(lines) {
  const cells = (line, tag) => line.replace(/^\||\|$/g, "").split("|").map((cell) => `<${tag}>${inline(cell.trim())}</${tag}>`).join("");
  const [head, , ...body] = lines;
  const rows = body.map((line) => `<tr>${cells(line, "td")}</tr>`).join("");
  return `<div class="wide"><table><thead><tr>${cells(head, 'th scope="col"').replaceAll('</th scope="col">', "</th>")}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** Where something lies of the repository that a text names: studies of lessons beside their pages, with their own names. */
const placed = (text) =>
  text
    // The folders of the repository are files to download here.
    .replace(/; in this repository it is `study\.toml` in the folder of the lesson/, "")
    .replace("| folder in the repository |", "| file |")
    .replace(/`web\/lessons\/\d+-([\w-]+)`/g, "[$1.toml](lessons/$1.toml)")
    .replace(/, which the \[README\]\([^)\s]*\) says how to build/, ", which comes with Sojourn (its README says how)")
    .replace(/\]\([^)\s]*use-the-page\.md[^)\s]*\)/g, "](lessons/index.html)")
    .replace(/\]\((?!lessons\/)[^)\s]*lessons\/\d+-([\w-]+)\/lesson\.md\)/g, "](lessons/$1.html)");

/** The exercise sheet: questions whose answers come from the command. */
export function sheetPage(text) {
  const parts = placed(text).trim().split(/\n{2,}/);
  const written = (part) => {
    const heading = /^(#{1,3}) (.+)$/.exec(part);
    if (heading) return `<h${heading[1].length}>${inline(heading[2])}</h${heading[1].length}>`;
    return part.startsWith("|") ? table(part.split("\n")) : blocks(part);
  };
  // As in the lessons, the answers wait until they are asked for.
  const answers = parts.indexOf("## Answers");
  if (answers < 0) throw new Error("docs/exercises.md has no heading Answers");
  const main = [
    ...parts.slice(0, answers).map(written),
    "<details><summary>Answers</summary>",
    ...parts.slice(answers + 1).map(written),
    "</details>",
  ];
  const inside = `<article class="lesson">\n${main.join("\n")}\n<p class="next"><a href="lessons/index.html">← Lessons</a></p>\n</article>`;
  return page("Exercises · Sojourn", inside, "");
}

const page = (title, main, script, head = "", skip = "") => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<base href="../">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; connect-src 'self'; worker-src 'self'; img-src 'self' data:; base-uri 'self'; form-action 'none'">
<title>${escape(title)}</title>
<link rel="icon" href="favicon.svg" type="image/svg+xml">
<link rel="stylesheet" href="style.css">
${head}
</head>
<body>
${skip}<header><div class="head">
<p class="brand"><img src="favicon.svg" alt="">Sojourn live</p>
<nav aria-label="Pages"><a href="index.html">Laboratory</a> <a href="lessons/index.html" aria-current="${title.startsWith("Lessons") ? "page" : "true"}">Lessons</a></nav>
</div></header>
<main>
${main}
</main>
${script}
</body>
</html>
`;

export function lessonPage(lesson, all, preload) {
  const at = all.indexOf(lesson);
  const next = all[at + 1];
  const before = all[at - 1];
  const main = `<div class="lesson-head">
<article class="lesson">
<p class="place">Lesson ${at + 1} of ${all.length}</p>
<h1>${escape(lesson.title)}</h1>
<p class="question">${inline(lesson.question)}</p>
${blocks(lesson.before)}
</article>
<section class="lesson tasks" aria-labelledby="h-try">
<h2 id="h-try">Try</h2>
${blocks(lesson.things)}
</section>
</div>
<div id="app" class="app loading" data-lesson="${escape(lesson.name)}" data-figure="${escape(JSON.stringify(lesson.figure))}" data-doc="${escape(JSON.stringify(lesson.doc))}"><p>The figure is loading.</p></div>
<article class="lesson">
<details><summary>Answer</summary>
${blocks(lesson.answer)}
</details>
<p><a id="whole" href="index.html">Open this scenario in the laboratory</a>, where you can change everything else.</p>
<p>The scenario is a study, too: <a href="lessons/${lesson.name}.toml" download>${lesson.name}.toml</a>. Run it with <code>sojourn study ${lesson.name}.toml</code>.</p>
<p class="next">${before ? `<a href="lessons/${before.name}.html">← ${escape(before.title)}</a>` : "<span></span>"}${next ? `<a href="lessons/${next.name}.html">${escape(next.title)} →</a>` : ""}</p>
</article>`;
  const skip = `<a class="skip" href="lessons/${lesson.name}.html#playback">Skip to the figure</a>`;
  return page(`${lesson.title} · Sojourn`, main, '<script type="module" src="lesson.js"></script>', preload, skip);
}

export function lessonsPage(all) {
  const items = all.map(
    (lesson) => `<li><a href="lessons/${lesson.name}.html">${escape(lesson.title)}</a><br>${inline(lesson.question)}</li>`,
  );
  const main = `<article class="lesson">
<h1>Lessons</h1>
<p>Each lesson is a question, a live figure, three things to try, and an answer that you can unfold. None needs preparation.</p>
<ol class="lessons-list">
${items.join("\n")}
</ol>
<p>The <a href="lessons/exercises.html">exercise sheet</a> has questions for each lesson whose answers come from the command, with the files to download.</p>
</article>`;
  return page("Lessons · Sojourn", main, "");
}
