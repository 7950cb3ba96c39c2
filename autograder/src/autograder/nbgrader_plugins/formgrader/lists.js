// Runs on the formgrader's lists, after their own scripts: texts are shown as text, and students
// without names by their ids.

(() => {
    const asText = (body) => (typeof body === "string" ? document.createTextNode(body) : body);

    const create = window.createModal;
    window.createModal = (id, title, body, footer) => create(id, title, asText(body), footer);

    const notebooks = window.StudentSubmittedNotebookUI?.prototype;
    if (notebooks) {
        const clear = notebooks.clear;
        notebooks.clear = function () {
            clear.call(this);
            this.$name.append = (body) => $.fn.append.call(this.$name, asText(body));
        };
    }

    const students = [
        [window.SubmissionUI, "$student_name", "student"],
        [window.StudentUI, "$name", "id"],
    ];
    for (const [view, cell, id] of students.filter(([view]) => view)) {
        const render = view.prototype.render;
        view.prototype.render = function () {
            render.call(this);
            const names = [this.model.get("last_name"), this.model.get("first_name")];
            const name = names.filter(Boolean).join(", ") || this.model.get(id);
            const link = this[cell].children("a");
            this[cell].attr("data-order", name);
            (link.length ? link : this[cell]).text(name);
        };
    }
})();
